"""5. May it go out: a pure decision over all results, bound to what was judged."""
