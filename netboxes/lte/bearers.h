// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "guaranteeing_scheduler.h"
#include "network.h"

namespace netboxit
{

/// Gives a UE a dedicated bearer in both directions, for all packets of the bearer's traffic class.
void ActivateBearer(ns3::LteHelper& helper, const ns3::Ptr<ns3::LteUeNetDevice>& terminal, const BearerPlan& plan);

ns3::Ptr<GuaranteeingScheduler> SchedulerOf(const ns3::Ptr<ns3::LteEnbNetDevice>& enodeb);

/// Tells the scheduler of an eNodeB the allocation and retention priority of the UEs' bearers.
void TellPriorities(const ns3::Ptr<ns3::LteEnbNetDevice>& enodeb, const LteNetwork& network, const LtePlan& plan);

} // namespace netboxit
