# SPDX-License-Identifier: GPL-2.0-or-later
"""Services of the link layer: ARQ, FEC, their delays and what files gain as a dissertation has them."""

from reproductions.services.conferencing import CONFERENCING
from reproductions.services.files import FILES_OVER_ONE, FILES_OVER_TWO
from reproductions.services.full_recovery import FULL_RECOVERY
from reproductions.services.tables import TABLES
from reproductions.study import Study

SERVICES = Study(
    name="services",
    sources={
        "msll": "G. Xylomenos, *Multi Service Link Layers: An Approach to Enhancing Internet Performance over Wireless Links*, "
        "dissertation, University of California San Diego, 1999",
    },
    experiments=(TABLES, FILES_OVER_ONE, FILES_OVER_TWO, FULL_RECOVERY, CONFERENCING),
)
