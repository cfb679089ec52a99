"""The gate: what it is given, the opening of an attempt, and the flow that ends in a result."""

from invaract_orchestration.gate.gate import Call, Gate

__all__ = ["Call", "Gate"]
