// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "numbered_frame.h"
#include "timetable.h"

#include <memory>
#include <string>

namespace netboxit
{

/// The frames of a pcapng capture and when each came after the first.
struct RecordedFrame
{
    std::int64_t offset; ///< ns
    std::vector<std::uint8_t> bytes;
};

using Recording = std::vector<RecordedFrame>;

/// Reads a capture into memory; throws std::runtime_error that names the file and what is wrong with it.
Recording ReadRecording(const std::string& path);

/// Sends recorded frames once, as they are and with their own spacing.
class Replay : public Timetable, public FrameSource
{
  public:
    explicit Replay(std::shared_ptr<const Recording> recording);

    void Start(std::int64_t now) override;
    std::int64_t Next() const override;
    void Advance() override;
    std::uint64_t PassOver(std::int64_t time) override;
    void SetRate(double rate, std::int64_t now) override;
    Bytes Write(std::uint64_t sequence, std::int64_t stamp) override;
    void Resize(std::size_t size) override;

  private:
    std::shared_ptr<const Recording> m_recording;
    std::int64_t m_start{0};
    std::size_t m_next{0};
};

} // namespace netboxit
