"""Pure decisions: text analysis, ranking formulas, budgets. No I/O, no clock, no state."""
