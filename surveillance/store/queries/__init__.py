"""Filters, order and paging of the store's lists."""
