"""Which checks pay: what each found first and what it cost, and limits that the evidence speaks for."""
