"""Material graphs: what they are, how they are edited, checked, stored and written out. Standard library only."""
