@echo off
"%~dp0node\node.exe" "%~dp0program\launcher.mjs" %*
