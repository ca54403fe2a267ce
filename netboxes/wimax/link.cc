// SPDX-License-Identifier: GPL-2.0-or-later
#include "link.h"

#include "block_error.h"

namespace netboxit::wimax
{

void Link::Update(double snrDb, const ReceiverSnr& receiver, double hysteresisDb)
{
    m_snrDb = snrDb;
    m_profile = receiver.Choose(snrDb, m_profile, hysteresisDb);
    for (ProfileId profile = 0; profile < PROFILES.size(); ++profile)
    {
        m_blockErrorRates[profile] = BlockErrorRate(profile, snrDb - receiver.ThresholdDb(profile));
    }
}

bool Link::MayReturn(const ReceiverSnr& receiver, double hysteresisDb) const
{
    return receiver.Best(m_snrDb, hysteresisDb).has_value();
}

} // namespace netboxit::wimax
