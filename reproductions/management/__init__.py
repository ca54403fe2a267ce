# SPDX-License-Identifier: GPL-2.0-or-later
"""Resource management: shares, budgets and policing in networks that many share, as a paper and a dissertation have them."""

from reproductions.management.attackers import ATTACKERS
from reproductions.management.clients import FILES as TRANSFERS
from reproductions.management.dybra import DYBRA, MORE_OR_FEWER
from reproductions.management.nodes import NODES
from reproductions.management.pink_lines import DSL, SATELLITE
from reproductions.management.pink_satellite import FILES, SHARES
from reproductions.management.pink_satellite import ROUND_TRIPS as SATELLITE_ROUND_TRIPS
from reproductions.management.pink_shares import EXPLOITATION, ROUND_TRIPS, TWO_BOTTLENECKS
from reproductions.management.sharing import ARRIVALS, BACKLOGGED, DISTANCES, FAIRNESS, SIX, USERS
from reproductions.study import Study

MANAGEMENT = Study(
    name="management",
    sources={
        "pink": "M. Casoni, C. A. Grazia, M. Klapez and N. Patriciello, *How to avoid TCP congestion without dropping packets: "
        "an effective AQM called PINK*, Computer Communications 103, 2017",
        "ppdr": "C. A. Grazia, *Communication Networks for Public Protection and Disaster Relief Systems*, dissertation, "
        "University of Modena and Reggio Emilia",
    },
    experiments=(
        DSL,
        SATELLITE,
        ROUND_TRIPS,
        TWO_BOTTLENECKS,
        EXPLOITATION,
        SHARES,
        SATELLITE_ROUND_TRIPS,
        FILES,
        ARRIVALS,
        DISTANCES,
        SIX,
        FAIRNESS,
        TRANSFERS,
        USERS,
        DYBRA,
        MORE_OR_FEWER,
        BACKLOGGED,
        NODES,
        ATTACKERS,
    ),
)
