# SPDX-License-Identifier: GPL-2.0-or-later
"""Queues: AQMs, schedulers and radio-aware queues as two dissertations have them."""

from reproductions.queues.lte_calls import QOE
from reproductions.queues.lte_cell import CQI, THRESHOLDS
from reproductions.queues.lte_dash import DASH, MIXED
from reproductions.queues.lte_dash_more import MORE_DASH, MORE_MIXED
from reproductions.queues.poisson_queue import POISSON_QUEUE
from reproductions.queues.scheduler_costs import SCHEDULER_COSTS
from reproductions.queues.schedulers import DELAYS, FAIRNESS
from reproductions.queues.stations import COSTS, LATENESS, THROUGHPUT
from reproductions.queues.wifi_cell import DOWNLOADS
from reproductions.queues.wifi_gateway import MOSTLY_TRANSFERS, MOSTLY_VOICE
from reproductions.study import Study

QUEUES = Study(
    name="queues",
    sources={
        "debloat": "Y. Dai, dissertation on buffer de-bloating in wireless access networks, Queen Mary University of "
        "London, 2018",
        "ppdr": "C. A. Grazia, *Communication Networks for Public Protection and Disaster Relief Systems*, dissertation, "
        "University of Modena and Reggio Emilia",
    },
    experiments=(
        POISSON_QUEUE,
        MOSTLY_TRANSFERS,
        MOSTLY_VOICE,
        DOWNLOADS,
        CQI,
        THRESHOLDS,
        QOE,
        DASH,
        MORE_DASH,
        MIXED,
        MORE_MIXED,
        SCHEDULER_COSTS,
        FAIRNESS,
        DELAYS,
        THROUGHPUT,
        LATENESS,
        COSTS,
    ),
)
