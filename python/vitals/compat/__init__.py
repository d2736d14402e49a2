"""Modules with the names, units and rules of other packages, so that programs written for them run
unchanged after changing an import."""
