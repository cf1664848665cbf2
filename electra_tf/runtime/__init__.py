"""What any run needs: randomness, devices and precision, progress."""
