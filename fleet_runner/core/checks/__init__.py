"""What is asked, what came back, and the verdict; one module a check in `catalogue`."""
