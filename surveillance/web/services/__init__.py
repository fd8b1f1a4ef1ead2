"""Services of the application, independent of HTTP."""
