"""How much automation may do: the circuit breaker, modes, and what people switched off."""
