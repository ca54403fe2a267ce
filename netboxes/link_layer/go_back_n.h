// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "arq_service.h"

namespace netboxit::multiservice
{

/// "go-back-n" (section 4.2.1): the receiver takes frames in their order only, and one timer has everything outstanding
/// sent again. It counts from when the oldest frame departed: as that of each frame of Selective Repeat.
///
/// One frame waits in the scheduler at a time, and the rest of the window in the service: the scheduler gives no frame back,
/// and what it would send before the frame that is missing would be of no use.
class GoBackN : public ArqService
{
  public:
    GoBackN(ServicePort& port, const Json& settings);

  protected:
    void Begin(Number number) override;
    void FrameDeparted(const AirFrame& frame) override;
    void TakeData(const AirFrame& frame) override;
    void DataDeparted(Number number) override;
    void WindowMoved() override;
    void TimerFactorChanged() override;

  private:
    void SendNext();
    void RestartTimer();
    void Expired();

    Number m_turn{0};   ///< the next one to be sent
    Number m_unsent{0}; ///< the next one that was never sent
    bool m_isWaiting{}; ///< a frame, in the scheduler
    Timer m_timer;
    bool m_discards{}; ///< the receiver waits for what is sent again
};

} // namespace netboxit::multiservice
