"""Counts on the command lines of the examples: whole numbers of at least one. A program that would do nothing for any
other, and end well, would leave a profile in which there is nothing to see, and no reason for it.
"""

import argparse


def count(word):
    """For the `type` of an argparse option."""
    try:
        number = int(word)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{word}' is not a whole number of at least 1")
    return number
