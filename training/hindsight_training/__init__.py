# SPDX-License-Identifier: MIT
"""Trains the neural presets: twin of the pipeline, networks, data, losses, export."""
