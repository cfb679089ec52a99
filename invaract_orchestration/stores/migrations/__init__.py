"""The migrations of the audit store, in order; they are run by `stores.migrate`."""
