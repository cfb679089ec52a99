"""The plan and the lineage as pictures, drawn here as SVG."""

from __future__ import annotations
