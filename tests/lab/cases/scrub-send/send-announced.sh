#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Full send as it was measured when readahead of its tree was announced (commit ace75066ced9): half a
# million files of 2,000 bytes, a snapshot, a quarter more, every fiftieth changed, another snapshot; the first one is sent.
#	MODELS="hdd ssd nvme" THOUSANDS=500 send-announced.sh
. "$(dirname "$0")/lib.sh"
memory=2G

for model in ${MODELS:-hdd nvme}; do
	compare "${THOUSANDS:-500},000 files of 2,000 bytes, $model" 0.98 "$model" 1 "announced:${THOUSANDS:-500}" single/single -- \
		send stream
done
done_testing
