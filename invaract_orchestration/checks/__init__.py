"""4. Does it keep the promise: each check judges what an engine has counted."""
