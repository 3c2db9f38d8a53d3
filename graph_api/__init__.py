"""graph_api."""
