// SPDX-License-Identifier: GPL-2.0-or-later
#include "announced.h"

namespace netboxit::middleware
{

Announced AnnouncedOf(const Member::Event& event)
{
    using Kind = Member::Event::Kind;
    switch (event.kind)
    {
    case Kind::BudgetChanged:
        return {"budget", {{"budget_bps", event.budget ? Json(*event.budget) : Json()}}};
    case Kind::Joined:
        return {"lease", Json::object()};
    case Kind::Refused:
        return {"lease_refused", {{"reason", event.reason == Reason::Full ? "full" : "per_host"}}};
    case Kind::LeaseLost:
        return {"lease_lost", Json::object()};
    case Kind::Unreachable:
        return {"allocator_unreachable", Json::object()};
    case Kind::Reachable:
        return {"allocator_reachable", Json::object()};
    case Kind::OtherAllocator:
        return {"other_allocator", Json::object()};
    case Kind::Left:
        break;
    }
    return {"left", Json::object()};
}

Announced AnnouncedOf(const Terms& terms)
{
    return {"share", {{"share_bps", terms.share}, {"members", terms.members}, {"good", terms.good}}};
}

} // namespace netboxit::middleware
