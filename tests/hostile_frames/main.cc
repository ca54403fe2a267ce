// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_maker.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <iostream>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <memory>
#include <sched.h>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace
{

using namespace hostile;

constexpr std::string_view USAGE = "usage: hostile-frames SEED FRAMES RATE LONGEST NAMESPACE/INTERFACE/MAC/ADDRESS…\n"
                                   "    sends so many frames into each interface, at so many a second into all together";
constexpr std::size_t BATCH = 32;

std::uint64_t NumberOf(std::string_view text)
{
    std::uint64_t number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size())
    {
        throw std::invalid_argument(std::string(text) + " is not a number");
    }
    return number;
}

int Checked(int result, const std::string& tried)
{
    if (result < 0)
    {
        throw std::system_error(errno, std::generic_category(), tried);
    }
    return result;
}

/// Whether the frame ends within a VLAN tag or right behind it. The receiving kernel drops such frames before any socket sees
/// them, and counts them nowhere (skb_vlan_untag).
bool IsTagCut(const Frame& frame)
{
    constexpr std::size_t TAGGED = 20;
    const auto type = frame[12] << 8 | frame[13];
    return frame.size() < TAGGED && (type == ETH_P_8021Q || type == ETH_P_8021AD);
}

/// What the command line says of an interface.
struct Place
{
    std::string space, interface;
    Host host;
};

Place PlaceOf(std::string_view text)
{
    std::array<std::string, 4> parts;
    for (auto& part : parts)
    {
        const auto end = std::min(text.find('/'), text.size());
        part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    Place place{parts[0], parts[1], {}};
    ether_addr mac{};
    if (!text.empty() || ether_aton_r(parts[2].c_str(), &mac) == nullptr ||
        inet_pton(AF_INET, parts[3].c_str(), place.host.address.data()) != 1)
    {
        throw std::invalid_argument(std::string(USAGE));
    }
    std::copy_n(mac.ether_addr_octet, 6, place.host.mac.begin());
    return place;
}

/// A packet socket on an interface, and what became of the frames that were given to it.
class Sender
{
  public:
    explicit Sender(const Place& place) : m_name(place.interface)
    {
        const auto path = "/run/netns/" + place.space;
        const int space = Checked(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path);
        Checked(::setns(space, CLONE_NEWNET), path);
        ::close(space);
        m_socket = Checked(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), "a packet socket");
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_ifindex = static_cast<int>(if_nametoindex(m_name.c_str()));
        Checked(::bind(m_socket, reinterpret_cast<sockaddr*>(&address), sizeof address), path + ": interface " + m_name);
        const int yes = 1;
        Checked(setsockopt(m_socket, SOL_PACKET, PACKET_QDISC_BYPASS, &yes, sizeof yes), m_name);
    }

    void Send(FrameMaker& maker, std::size_t count)
    {
        std::array<Frame, BATCH> frames;
        std::array<iovec, BATCH> pieces{};
        std::array<mmsghdr, BATCH> messages{};
        for (std::size_t i = 0; i < count; ++i)
        {
            frames[i] = maker.Next();
            m_cut += IsTagCut(frames[i]);
            pieces[i] = {frames[i].data(), frames[i].size()};
            messages[i].msg_hdr.msg_iov = &pieces[i];
            messages[i].msg_hdr.msg_iovlen = 1;
        }
        for (std::size_t done = 0; done < count;)
        {
            const int some = ::sendmmsg(m_socket, &messages[done], static_cast<unsigned>(count - done), 0);
            if (some < 0 && (errno == EINTR || errno == EAGAIN))
            {
                continue;
            }
            // What the kernel does not take (longer than the MTU, no room) is passed over, and counted; no interface is the end.
            if (some < 0 && errno != EMSGSIZE && errno != ENOBUFS && errno != EINVAL)
            {
                Checked(-1, m_name);
            }
            done += some < 0 ? 1 : static_cast<std::size_t>(some);
            m_refused += some < 0;
            m_sent += some < 0 ? 0 : static_cast<std::uint64_t>(some);
        }
    }

    friend std::ostream& operator<<(std::ostream& out, const Sender& sender)
    {
        return out << R"({"interface": ")" << sender.m_name << R"(", "sent": )" << sender.m_sent << R"(, "refused": )"
                   << sender.m_refused << R"(, "cut": )" << sender.m_cut << '}';
    }

  private:
    std::string m_name;
    int m_socket{};
    std::uint64_t m_sent{};
    std::uint64_t m_refused{};
    std::uint64_t m_cut{};
};

int Run(std::span<char*> given)
{
    if (given.size() < 6)
    {
        throw std::invalid_argument(std::string(USAGE));
    }
    const auto frames = NumberOf(given[2]);
    const auto rate = NumberOf(given[3]);
    std::vector<Sender> senders;
    std::vector<Host> hosts;
    for (const auto* text : given.subspan(5))
    {
        const auto place = PlaceOf(text);
        hosts.push_back(place.host);
        senders.emplace_back(place);
    }
    FrameMaker maker(NumberOf(given[1]), hosts, NumberOf(given[4]));
    const auto began = std::chrono::steady_clock::now();
    std::uint64_t sent = 0;
    for (std::uint64_t left = frames; left > 0;)
    {
        const auto batch = std::min<std::uint64_t>(left, BATCH);
        for (auto& sender : senders)
        {
            sender.Send(maker, batch);
            sent += batch;
            std::this_thread::sleep_until(began + std::chrono::microseconds(sent * 1'000'000 / rate));
        }
        left -= batch;
    }
    std::cout << '[';
    for (std::size_t i = 0; i < senders.size(); ++i)
    {
        std::cout << (i == 0 ? "" : ", ") << senders[i];
    }
    std::cout << "]\n";
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    try
    {
        return Run({argv, static_cast<std::size_t>(argc)});
    }
    catch (const std::exception& error)
    {
        std::cerr << "hostile-frames: " << error.what() << '\n';
        return 1;
    }
}
