"""The command: `vitals` of the wheel, and `python -m vitals`."""

import os
import sys


def main(*subcommand: str) -> None:
    """Replaces this process by the command that the package carries, with our arguments behind a subcommand."""
    command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_prefix", "bin", "vitals")
    try:
        os.execv(command, ["vitals", *subcommand, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"vitals: {command}: {error.strerror}")


if __name__ == "__main__":
    main()
