# SPDX-License-Identifier: GPL-2.0-only
# Sphinx: which page becomes which manual. No web theme, no extension.
import os

here = os.path.dirname(os.path.abspath(__file__))
project = 'btrfs-policy'
author = ''
version = release = open(os.path.join(here, '..', '..', 'VERSION')).read().strip()
root_doc = 'btrfs-policy'
exclude_patterns = ['built']
man_pages = [
    ('btrfs-policy', 'btrfs-policy', 'device roles and read policies for btrfs', author, 8),
    ('btrfs-device-policy', 'btrfs-device-policy', 'show and change policies of a btrfs file system', author, 8),
    ('btrfs-balance-preferred', 'btrfs-balance-preferred', 'move misplaced chunks of a btrfs file system', author, 8),
    ('btrfs-policy.conf', 'btrfs-policy.conf', 'settings of btrfs file systems that outlive a mount', author, 5),
    ('libbtrfs-policy', 'libbtrfs-policy', 'device roles, read policies and placement of btrfs', author, 3),
    ('kernel-abi', 'btrfs-policy-kernel', 'kernel interface of device roles and read policies', author, 7),
]
