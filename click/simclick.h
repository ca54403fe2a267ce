// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <sys/time.h>

#include <cstddef>

/// The C interface of libnsclick.so, declared here because the ns3 wheel ships the library without its
/// header. Click calls the host program (simclick_sim_*) and is called by it (simclick_click_*), always in
/// one thread.
extern "C"
{
    /// One router. `currentTime` is set by the host before every call: it is all that Click knows of time.
    struct simclick_node_t
    {
        void* clickRouter;
        timeval currentTime;
    };

    /// Carried along with a frame; Click never looks at it.
    struct simclick_simpacketinfo
    {
        int id;
        int flow;
        int type;
    };

    using SIMCLICK_MEM_ALLOC = void* (*)(std::size_t, void*);

    /// 0 when the configuration in `file` was parsed and initialised; what was wrong goes to stderr.
    int simclick_click_create(simclick_node_t* node, const char* file);
    void simclick_click_kill(simclick_node_t* node);
    /// One driver round: up to 256 tasks, then the timers that are due.
    void simclick_click_run(simclick_node_t* node);
    /// Gives a frame to every FromSimDevice of this interface, then runs one driver round.
    int simclick_click_send(simclick_node_t* node,
                            int interface,
                            int packetType,
                            const unsigned char* bytes,
                            int length,
                            simclick_simpacketinfo* info);
    /// A malloc'ed text, or null when the handler reported an error (on stderr).
    char* simclick_click_read_handler(simclick_node_t* node,
                                      const char* element,
                                      const char* handler,
                                      SIMCLICK_MEM_ALLOC allocate,
                                      void* argument);
    int simclick_click_write_handler(simclick_node_t* node,
                                     const char* element,
                                     const char* handler,
                                     const char* text);

    /// Click transmits a frame.
    int simclick_sim_send(simclick_node_t* node,
                          int interface,
                          int packetType,
                          const unsigned char* bytes,
                          int length,
                          simclick_simpacketinfo* info);
    /// Click asks or tells something; the arguments depend on the command, see SimCommand.
    int simclick_sim_command(simclick_node_t* node, int command, ...);
}

namespace netboxit::click
{

inline constexpr int SIM_PACKET_ETHERNET = 1;

/// The commands of simclick_sim_command, with their arguments.
enum class SimCommand : int
{
    Version = 0,
    Supports = 1,        ///< int command
    InterfaceByName = 2, ///< const char* name; answers the interface's number, negative when there is none
    AddressByName = 3,   ///< const char* name, char* text, int size
    HardwareAddressByName = 4, ///< const char* name, char* text, int size
    Schedule = 5,              ///< timeval*: call run() at this absolute time
    NodeName = 6,              ///< char* text, int size
    InterfaceReady = 7,        ///< int interface
    Trace = 8,
    NodeId = 9,
    NextPacketId = 10,
    ChangeChannel = 11,
    Promiscuous = 12,  ///< int interface
    PrefixByName = 13, ///< const char* name, char* text, int size
    Random = 14,       ///< uint32_t* result, uint32_t maximum
    Defines = 15,      ///< char* pairs, size_t* size; -1 and the needed size when the buffer is too small
};

} // namespace netboxit::click
