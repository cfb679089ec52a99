"""Other spellings of the same agreement, mapped to the one model or refused by name."""
