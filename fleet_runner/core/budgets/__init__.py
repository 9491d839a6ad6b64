"""How much automation may do: modes, permission, the disruption budget, the circuit breaker."""
