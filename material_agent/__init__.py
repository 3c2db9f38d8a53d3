"""material_agent."""
