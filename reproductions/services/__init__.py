# SPDX-License-Identifier: GPL-2.0-or-later
"""Services of the link layer: ARQ, FEC, their delays and what files, pages and speech gain, as a dissertation has it."""

from reproductions.services.browsing import BROWSING
from reproductions.services.conferencing import CONFERENCING
from reproductions.services.files import FILES_CELLULAR, FILES_ELSEWHERE, FILES_OVER_ONE, FILES_OVER_TWO, GOODPUT
from reproductions.services.full_recovery import FULL_RECOVERY
from reproductions.services.mixes import MIX_OVER_ONE, MIX_OVER_TWO
from reproductions.services.scheduling import SCHEDULING
from reproductions.services.tables import TABLES
from reproductions.study import Study

SERVICES = Study(
    name="services",
    sources={
        "msll": "G. Xylomenos, *Multi Service Link Layers: An Approach to Enhancing Internet Performance over Wireless Links*, "
        "dissertation, University of California San Diego, 1999",
    },
    experiments=(
        TABLES,
        FILES_CELLULAR,
        FILES_OVER_ONE,
        GOODPUT,
        FILES_OVER_TWO,
        FILES_ELSEWHERE,
        BROWSING,
        FULL_RECOVERY,
        CONFERENCING,
        MIX_OVER_ONE,
        MIX_OVER_TWO,
        SCHEDULING,
    ),
)
