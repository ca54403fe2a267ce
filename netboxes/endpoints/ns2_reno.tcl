# SPDX-License-Identifier: GPL-2.0-or-later
# A file by TCP Reno over one link that loses packets both ways at random, by ns-2 2.35 (Debian's package ns2) with the rules of
# ns-2 2.1b4: what came in later is off. ns2_reno.csv has what it prints.
#   ns ns2_reno.tcl RATE DELAY DATA LOSS SECONDS SEED
# A packet has DATA bytes and 54 of headers, an acknowledgement these 54. Prints kbit/s of DATA, the share of the packets sent
# that was needed, and the number of timeouts.
lassign $argv rate delay data loss seconds seed
set headers 54

Agent/TCP set tcpTick_ 0.5
Agent/TCP set window_ 20
Agent/TCP set windowInit_ 1
Agent/TCP set rtxcur_init_ 6.0
Agent/TCP set maxrto_ 100000
Agent/TCP set minrto_ 0
Agent/TCP set useHeaders_ false
Agent/TCP set syn_ false
Agent/TCP set delay_growth_ false
Agent/TCP set singledup_ 0
Agent/TCP set updated_rttvar_ false
Agent/TCP set rfc2988_ false
Agent/TCP set timerfix_ false
Agent/TCP set precisionReduce_ false
Agent/TCP set exitFastRetrans_ false
Agent/TCP set packetSize_ [expr $data + $headers]
Agent/TCPSink set packetSize_ $headers

ns-random $seed
set ns [new Simulator]
set sender [$ns node]
set receiver [$ns node]
$ns duplex-link $sender $receiver $rate $delay DropTail
foreach {from to} [list $sender $receiver $receiver $sender] {
    $ns queue-limit $from $to 50
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $loss
    $errors ranvar [new RandomVariable/Uniform]
    $errors drop-target [new Agent/Null]
    $ns lossmodel $errors $from $to
}
set tcp [new Agent/TCP/Reno]
set sink [new Agent/TCPSink]
$ns attach-agent $sender $tcp
$ns attach-agent $receiver $sink
$ns connect $tcp $sink
set file [new Application/FTP]
$file attach-agent $tcp
$ns at 0 "$file start"
$ns at $seconds {
    set arrived [expr [$tcp set ack_] + 1]
    set kbps [expr $arrived * $data * 8e-3 / $seconds]
    puts [format "%.4f %.4f %d" $kbps [expr double($arrived) / [$tcp set ndatapack_]] [$tcp set nrexmit_]]
    exit 0
}
$ns run
