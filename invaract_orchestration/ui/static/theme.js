// Runs before the page is drawn. Airflow keeps the theme that somebody chose in localStorage.theme; without a choice the
// system's own setting holds, which the style sheet reads itself.
(function () {
  "use strict";
  var root = document.documentElement;
  var framed = window.parent !== window;

  function chosen() {
    try {
      return window.localStorage.getItem("theme");
    } catch (refused) {
      return null;
    }
  }

  function apply() {
    var theme = chosen();
    root.classList.toggle("dark", theme === "dark");
    root.classList.toggle("light", theme === "light");
  }

  function choose(theme) {
    try {
      if (theme === "auto") window.localStorage.removeItem("theme");
      else window.localStorage.setItem("theme", theme);
    } catch (refused) {
      root.classList.toggle("dark", theme === "dark");
      root.classList.toggle("light", theme === "light");
      return;
    }
    apply();
  }

  function offerThemes() {
    var button = document.querySelector("button.theme");
    if (!button || framed) return;
    var order = ["auto", "light", "dark"];
    var say = function (theme) {
      button.textContent = "Theme: " + theme;
    };
    var current = order.indexOf(chosen()) > 0 ? chosen() : "auto";
    say(current);
    button.hidden = false;
    button.addEventListener("click", function () {
      current = order[(order.indexOf(current) + 1) % order.length];
      choose(current);
      say(current);
    });
  }

  function offerParent() {
    var link = document.querySelector("a.parent");
    var own = document.querySelector("a.brand");
    if (!link || !own || !framed) return;
    try {
      void window.parent.location.pathname;
    } catch (refused) {
      return; // framed by a page of another origin
    }
    var base = own.pathname.replace(/\/[^/]*\/$/, ""); // the pages are mounted one step below the one around them
    var path = base + "/dags/" + encodeURIComponent(link.dataset.dag) + "/runs/" + encodeURIComponent(link.dataset.run);
    link.hidden = false;
    link.addEventListener("click", function (event) {
      event.preventDefault();
      window.parent.history.pushState({}, "", path);
      window.parent.dispatchEvent(new PopStateEvent("popstate"));
    });
  }

  apply();
  if (framed) root.classList.add("framed");
  window.addEventListener("storage", apply);
  document.addEventListener("DOMContentLoaded", function () {
    offerThemes();
    offerParent();
  });
})();
