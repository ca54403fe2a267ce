// SPDX-License-Identifier: GPL-2.0-or-later
#include "loss_counts.h"

namespace netboxit
{

Json LossCounts::Read(std::span<const Loss> reasons) const
{
    Json counts = Json::object();
    for (const auto reason : reasons)
    {
        counts[std::string(NameOf(reason))] = (*this)[reason];
    }
    return counts;
}

Json LossCounts::ReadOccurred() const
{
    Json counts = Read();
    std::erase_if(counts.get_ref<Json::object_t&>(), [](const auto& count) { return count.second == 0; });
    return counts;
}

} // namespace netboxit
