from .utils import helper
from . import consts
