"""Commands of a first or a broken installation: init, env, doctor."""
