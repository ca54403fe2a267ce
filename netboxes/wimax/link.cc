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
        m_marginsDb[profile] = snrDb - receiver.ThresholdDb(profile);
    }
    m_blockErrorRates.fill(-1.0);
}

double Link::BlockErrorRateAt(ProfileId profile) const
{
    auto& rate = m_blockErrorRates[profile];
    if (rate < 0.0)
    {
        rate = BlockErrorRate(profile, m_marginsDb[profile]);
    }
    return rate;
}

bool Link::MayReturn(const ReceiverSnr& receiver, double hysteresisDb) const
{
    return receiver.Best(m_snrDb, hysteresisDb).has_value();
}

} // namespace netboxit::wimax
