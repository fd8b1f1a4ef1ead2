"""The web application of feltwatch: pages drawn by the server, and a JSON API for all they do.

Routers take requests apart and know HTTP, services know what is wanted, repositories know
where things are kept; imports go only that way.
"""
