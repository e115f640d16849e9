"""What must hold of the fixtures themselves: of cases, of rules and their sources, of the table of states."""
