"""The same clustering at several resolutions: which clusters stay, split or mix?"""
