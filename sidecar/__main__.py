"""Run by `python -P -m sidecar`; without `-P`, Python may import from the current folder."""

import os
import sys

if __name__ == "__main__":
    # Python looks for modules in the current folder first; what lies there is not ours to run.
    found = os.path.join(sys.path[0], "sidecar", "__main__.py")
    if not sys.flags.safe_path and found != __file__:
        del sys.path[0]
    from sidecar.cli import main

    main()
