// SPDX-License-Identifier: GPL-2.0-or-later
#include "sdu_queue.h"

#include "../queueing/chance.h"

namespace netboxit::wimax
{

std::unique_ptr<SduQueue> MakeSduQueue(const Json& said, Accounts& accounts, std::int64_t stream, const queueing::Channel* channel)
{
    return std::make_unique<SduQueue>(
        said,
        queueing::ChanceOf(stream),
        [&accounts](const std::shared_ptr<Sdu>& sdu, Loss reason) { accounts.Lose(*sdu, reason); },
        [&accounts](const std::shared_ptr<Sdu>& sdu) { return accounts.MarkCongestion(*sdu); },
        queueing::MakerOf(channel));
}

queueing::Entry EntryOf(const Sdu& sdu, Bytes frame)
{
    const bool isForOne = sdu.receivers.size() == 1;
    return {sdu.bytes, sdu.frame.trafficClass, frame, isForOne ? std::optional(sdu.receivers.front()) : std::nullopt};
}

} // namespace netboxit::wimax
