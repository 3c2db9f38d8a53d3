"""`python -m material_agent.cli`."""

from material_agent.cli.app import main

if __name__ == "__main__":
    main()
