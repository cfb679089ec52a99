"""The demonstration's own deliveries: flights by month, orders by day."""
