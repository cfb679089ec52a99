"""What was promised: the contract, its loading, its digest and its schema."""
