// SPDX-License-Identifier: GPL-2.0-or-later
#include "rlp_out_of_sequence.h"

namespace netboxit::multiservice
{

void RlpOutOfSequence::Take(Expected&, const Packet& packet, std::int64_t later)
{
    Deliver(packet, later);
}

} // namespace netboxit::multiservice
