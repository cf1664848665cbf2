"""Looking at models: held-out measures, filled-in masks, operations of a step."""
