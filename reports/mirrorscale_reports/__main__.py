"""python3 -m mirrorscale_reports RECORDS.jsonl --out DIR"""

import sys

from mirrorscale_reports.cli import main

sys.exit(main())
