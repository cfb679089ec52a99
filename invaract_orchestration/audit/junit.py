"""A result as JUnit XML, the form that build servers read: one test case for each check."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.checks.result import CheckResult

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CONTROL = re.compile("[\x7f-\x84\x86-\x9f]")


def junit_report(result: GateResult) -> str:
    """One suite named after the contract.

    A broken check is a failure, an unverifiable one an error; a warning and rows set aside are output of a case that passes. A
    gate that could not judge or publish, or a batch that was refused before any check, is a case named `gate`.
    """
    cases = [_case(result.contract, check) for check in result.checks]
    is_fine = result.exit_code in (0, 2)
    if not is_fine and not result.blocking:
        cases.append(_gate_case(result))
    suite = ET.Element(
        "testsuite",
        name=_xml(result.contract),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(sum(case.find("error") is not None for case in cases)),
        skipped="0",
        time=f"{(result.finished_at - result.started_at).total_seconds():.3f}",
        timestamp=result.started_at.isoformat(),
    )
    properties = ET.SubElement(suite, "properties")
    for name in ("version", "state", "target", "submission_id", "attempt_id"):
        ET.SubElement(properties, "property", name=name, value=_xml(str(getattr(result, name) or "")))
    suite.extend(cases)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _case(contract: str, check: CheckResult) -> ET.Element:
    case = ET.Element("testcase", classname=_xml(f"{contract}.{check.stage}"), name=_xml(check.check))
    text = f"expected {check.expected}, found {check.found}" + (f"\nHint: {check.hint}" if check.hint else "")
    if check.is_blocking:
        tag = "failure" if check.outcome == "broken" else "error"
        ET.SubElement(case, tag, type=check.outcome, message=_xml(check.found)).text = _xml(text)
    elif check.outcome != "kept":
        kind = "rows set aside" if check.is_set_aside else "warning"
        ET.SubElement(case, "system-out").text = _xml(f"{kind}: {text}")
    return case


def _gate_case(result: GateResult) -> ET.Element:
    case = ET.Element("testcase", classname=_xml(f"{result.contract}.gate"), name="gate")
    tag = "failure" if result.state == "rejected" else "error"
    text = result.message + (f"\nHint: {result.hint}" if result.hint else "")
    ET.SubElement(case, tag, type=_xml(result.code or result.state), message=_xml(result.message)).text = _xml(text)
    return case


def _xml(text: str) -> str:
    """Characters that XML cannot hold, and control characters, as escapes."""
    return _CONTROL.sub(_escape, _NOT_XML.sub(_escape, text))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def junit_failure(code: str, message: str) -> str:
    """A suite of one error, for a call that never got as far as a result."""
    suite = ET.Element("testsuite", name="invaract", tests="1", failures="0", errors="1", skipped="0")
    case = ET.SubElement(suite, "testcase", classname="invaract.gate", name="gate")
    ET.SubElement(case, "error", type=_xml(code), message=_xml(message.splitlines()[0])).text = _xml(message)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"
