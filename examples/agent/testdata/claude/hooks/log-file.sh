#!/bin/sh
# Notes which files the agent reads.
sed 's/.*"file_path":"\([^"]*\)".*/\1/' >>"${FILE_LOG:-/dev/null}"
