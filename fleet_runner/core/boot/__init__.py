"""How a node boots over the network: who may have what, how far it came, and what it is given; all of it pure."""
