// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"
#include "frame.h"
#include "pcapng.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <thread>

namespace netboxit
{

/// Bytes on their way from one thread to another, without waiting.
class ByteQueue
{
  public:
    static constexpr std::size_t CAPACITY = 4 << 20;

    std::size_t Room() const
    {
        return CAPACITY - (m_head - m_tail.load(std::memory_order_acquire));
    }

    /// Adds bytes for which there is room; Publish() shows them to the other thread.
    void Append(Bytes bytes);

    void Publish()
    {
        m_published.store(m_head, std::memory_order_release);
    }

    /// What is there, as far as it lies in one piece.
    Bytes Front() const;

    void Remove(std::size_t bytes)
    {
        m_tail.fetch_add(bytes, std::memory_order_release);
    }

  private:
    std::vector<std::uint8_t> m_bytes = std::vector<std::uint8_t>(CAPACITY);
    std::size_t m_head{0};
    alignas(64) std::atomic<std::size_t> m_published{0};
    alignas(64) std::atomic<std::size_t> m_tail{0};
};

/// A capture of the frames at one port, written by a thread of its own: neither a slow disk nor the memory
/// for its queue may hold up the netbox. What finds no room in the queue is counted.
class PortCapture
{
  public:
    /// It ends by itself after so many frames or so much time. The file may be a named pipe that somebody reads:
    /// when its reader goes, the capture is over. Throws std::system_error when the file cannot be written.
    PortCapture(std::string path, std::uint64_t frames, std::chrono::nanoseconds duration);
    /// Waits until all is written.
    ~PortCapture();
    PortCapture(const PortCapture&) = delete;
    PortCapture& operator=(const PortCapture&) = delete;

    /// `stamp`: ns since 1970.
    void Add(PacketDirection direction, std::int64_t stamp, Bytes frame);
    /// Takes no more frames.
    void End();
    nlohmann::json Read() const;

    /// It takes no more frames, and the destructor has next to nothing to wait for.
    bool IsOver() const
    {
        return m_written || m_closed;
    }

    const std::string& Path() const
    {
        return m_path;
    }

  private:
    void Write();
    bool ReaderGone() const;
    /// False: the pipe is full, and some of it still waits.
    bool WriteWaiting(ByteQueue& queue);
    /// What is left at the end, as far as the reader of a pipe takes it.
    void WriteRest(ByteQueue& queue);

    std::string m_path;
    Descriptor m_file;
    std::uint64_t m_most;
    std::chrono::nanoseconds m_duration;
    std::uint64_t m_frames{0};
    std::uint64_t m_dropped{0};

    std::atomic<ByteQueue*> m_queue{};  ///< none before the thread has made it
    std::atomic<bool> m_closed{false};  ///< by the thread: in vain from now on
    std::atomic<bool> m_ended{false};   ///< by the netbox: nothing comes any more
    std::atomic<bool> m_written{false}; ///< all of it
    std::atomic<int> m_error{0};        ///< of the file
    std::binary_semaphore m_wake{0};
    std::thread m_thread;
};

/// The captures of a netbox, one a port at most.
class PortCaptures
{
  public:
    explicit PortCaptures(std::size_t ports) : m_captures(ports)
    {
    }

    /// Throws std::runtime_error when one is going on at this port.
    void Start(StationId port,
               const std::string& path,
               std::uint64_t frames,
               std::chrono::nanoseconds duration);
    /// Ends the capture at a port, and tells how far it is. Once it is written, it is forgotten. Throws
    /// std::runtime_error when there is none.
    nlohmann::json Stop(StationId port);
    /// What is going on at a port; null: nothing.
    nlohmann::json Read(StationId port) const;

    void Add(StationId port, PacketDirection direction, std::int64_t stamp, Bytes frame)
    {
        if (m_captures[port])
        {
            m_captures[port]->Add(direction, stamp, frame);
        }
    }

  private:
    std::vector<std::unique_ptr<PortCapture>> m_captures;
};

} // namespace netboxit
