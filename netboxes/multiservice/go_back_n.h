// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "arq_service.h"

namespace netboxit::multiservice
{

/// "go-back-n" (LL-GBN, spec 1.6.3): the receiver takes frames in their order only, and one timer has everything outstanding sent again.
class GoBackN : public ArqService
{
  public:
    GoBackN(ServicePort& port, const Json& settings);

  protected:
    void TakeData(const AirFrame& frame) override;
    void DataDeparted(Number number) override;
    void WindowMoved() override;
    void TimerFactorChanged() override;

  private:
    void StartTimer();
    void Expired();

    Timer m_timer;
    std::int64_t m_started{}; ///< the timer, ns
    bool m_discards{};        ///< the receiver waits for what is sent again
};

} // namespace netboxit::multiservice
